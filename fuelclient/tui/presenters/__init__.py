"""Pure: from values of the model to tables and lines of text. Nothing here imports Textual."""
