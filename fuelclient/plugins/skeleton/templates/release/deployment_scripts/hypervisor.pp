# Applied by the task hypervisor on compute nodes: put the classes of the hypervisor here. It changes nothing yet.
notify { '@{name}: hypervisor': }
