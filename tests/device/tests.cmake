# Tests of this folder.

# host/device on a device; test_cold needs none.
scratchscope_test(device.device device device/test_device.c device)
scratchscope_test(device.build device device/test_build.c device)
scratchscope_test(device.cold device device/test_cold.c device)
scratchscope_test(device.pe_arenas device device/test_pe_arenas.c device)
scratchscope_oclgrind_test(pe_arenas device.pe_arenas)
