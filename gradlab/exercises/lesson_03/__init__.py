"""The exercises of lesson 03, one a file, named for its answer."""
