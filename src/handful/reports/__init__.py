"""Show results: terminal, Markdown, HTML with SVG figures."""
