"""Pictures of motion without a GPU: stills, contact sheets, films and plots."""
