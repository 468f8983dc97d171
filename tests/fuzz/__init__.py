"""Broken files by the thousand: how they are broken (`mutate`), who reads them (`targets`), within limits (`run`)."""
