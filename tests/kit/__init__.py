"""What tests share: servers in processes of their own, commands, waits, stored outcomes."""
