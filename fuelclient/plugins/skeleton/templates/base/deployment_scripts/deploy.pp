# Applied by the task @{name}-deploy in deployment_tasks.yaml. Hiera has facts about the environment, and the settings
# of environment_config.yaml under the name of the plugin, where tasks of the release have written them to the node, as
# those of Fuel do. On any other node this fails: an empty greeting would look like a success.
$settings = hiera('@{name}')

file { '/etc/fuel-@{name}/greeting':
  ensure  => file,
  content => "${settings['@{setting}_greeting']}\n",
}
