"""Context of panels: what the running text says of each of them.

Add here: rules that read running text, captions and what is known of panels. Keep out: reading files (`articles`,
`figures`), and anything that changes panels or their subcaptions.
"""
