"""An index as files, and skills as OCI artifacts."""
