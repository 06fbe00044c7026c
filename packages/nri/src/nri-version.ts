/** Version of containerd/nri whose protocol this package implements. Runtimes and plugins report their versions to each other. */
export const NRI_VERSION = 'v0.12.0';
