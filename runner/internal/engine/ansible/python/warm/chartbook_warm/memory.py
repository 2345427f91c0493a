"""Files of a run that are in its memory alone."""

from __future__ import annotations

from typing import Any


def serve(files: dict[str, str]) -> None:
    """Has Ansible read these files where a command line names them (-e @PATH), as if they were there.

    Unlike what stands in the command line itself, their contents are never printed, however verbose Ansible is.

    Args:
        files: Contents by absolute path.
    """
    if not files:
        return
    from ansible.parsing.dataloader import DataLoader  # pylint: disable=import-outside-toplevel

    read = DataLoader._get_file_contents  # pylint: disable=protected-access

    def contents(self: Any, file_name: str) -> Any:
        """Returns what the wrapped method does: bytes, and whether they may be shown in error messages."""
        text = files.get(file_name)
        return read(self, file_name) if text is None else (text.encode(), False)

    DataLoader._get_file_contents = contents  # pylint: disable=protected-access
