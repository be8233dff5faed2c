# Prints what the load balancer would serve; manages no resource.
notify { 'load-balancer':
  message => "${facts['networking']['hostname']}: would point HAProxy at the controllers",
}
