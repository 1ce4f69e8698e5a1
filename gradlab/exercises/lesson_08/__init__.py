"""The exercises of lesson 08, one a file, named for its answer."""
