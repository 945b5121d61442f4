# Installs the library, its public headers, the command line and a package that find_package(restride) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/restride)

install(TARGETS restride EXPORT restrideTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/restride DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT restrideTargets NAMESPACE restride:: DESTINATION ${package_folder})
if(TARGET restride_llvm)
  install(TARGETS restride_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/restride)
endif()
if(TARGET restride_command)
  install(TARGETS restride_command)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/suites DESTINATION ${CMAKE_INSTALL_DATADIR}/restride)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/restrideConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/restrideConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/restrideConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/restrideConfig.cmake
              ${PROJECT_BINARY_DIR}/restrideConfigVersion.cmake
        DESTINATION ${package_folder})
