# Applied by the task hypervisor on compute nodes. Add the hypervisor's classes here. It does not change anything yet.
notify { '@{name}: hypervisor': }
