# Prints what the network of a node would become; manages no resource.
notify { 'host-network':
  message => "${facts['networking']['hostname']}: would configure bridges, bonds and addresses",
}
