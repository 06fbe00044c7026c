/** The version of containerd/nri whose contract this package implements. Runtime and plugin report their versions to each other. */
export const NRI_VERSION = 'v0.12.0';
