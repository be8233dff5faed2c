# Applied by the task @{name}-deploy in deployment_tasks.yaml. Hiera has facts about the environment, and the settings of
# environment_config.yaml under the name of the plugin.
$settings = hiera('@{name}', {})

file { '/etc/fuel-@{name}/greeting':
  ensure  => file,
  content => "${settings['@{setting}_greeting']}\n",
}
