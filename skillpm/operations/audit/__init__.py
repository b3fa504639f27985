"""`audit`: find what a reviewer should see in the content of skills."""
