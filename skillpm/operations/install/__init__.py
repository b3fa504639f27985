"""`install`, `sync`, `update`, `uninstall` and `lock`."""
