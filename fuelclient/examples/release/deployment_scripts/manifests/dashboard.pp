# Prints what the dashboard would be; manages no resource.
notify { 'dashboard':
  message => "${facts['networking']['hostname']}: would configure Horizon behind Apache",
}
