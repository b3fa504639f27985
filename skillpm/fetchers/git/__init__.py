"""Git: one shared bare cache per repository, exactly the objects needed, files written from the object database."""
