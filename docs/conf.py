"""Sphinx settings; `make docs` builds the Markdown of this directory as HTML."""

from __future__ import annotations

from fuelclient import __version__

project = "fuelclient"
author = "The authors of fuelclient"
release = __version__

root_doc = "contents"  # index.md has plain links, which forges show too, instead of directives
extensions = ["myst_parser"]
exclude_patterns = ["README.md"]
html_theme = "alabaster"
html_theme_options = {"description": "Deployment graphs of OpenStack Fuel", "fixed_sidebar": True, "page_width": "72em"}
html_copy_source = False
html_show_copyright = False

# two hyphens start an option, and quotes belong to commands
smartquotes = False
myst_heading_anchors = 3
