"""The studio: choreograph in the browser, served from this machine. The page's sources are in `web/`."""
