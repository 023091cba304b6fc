"""Commands that replace, reboot, check, delete, drain and resume nodes."""
