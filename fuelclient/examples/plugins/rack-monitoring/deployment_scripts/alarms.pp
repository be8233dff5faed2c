# Prints which alarms there would be; manages no resource.
notify { 'rack-monitoring-alarms':
  message => "${facts['networking']['hostname']}: would raise alarms for power and temperature",
}
