"""What differs between versions of ansible-core, one class per family of versions."""
