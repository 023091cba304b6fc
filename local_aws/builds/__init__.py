"""What builds of images and programs share: the cache, package sources, logs, programs of this machine and relays."""
