"""`install`, `sync`, `update`, `uninstall`, `lock`: one pipeline of resolution, plan and executor."""
