# Applied by the task @{name}-deploy in deployment_tasks.yaml. Facts about the environment and the settings of
# environment_config.yaml are in hiera, under the name of the plugin.
$settings = hiera('@{name}', {})

file { '/etc/fuel-@{name}/greeting':
  ensure  => file,
  content => "${settings['@{setting}_greeting']}\n",
}
