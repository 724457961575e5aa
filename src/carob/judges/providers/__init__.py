"""Judge providers: the APIs and local engines that judge models run on."""
