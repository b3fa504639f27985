"""Migration of flat skill files: scan, plan, clean up."""
