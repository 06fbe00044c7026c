/** Loads the native libraries that a node needs. Throws the dynamic linker's error if this host is too old for one of them. */
export async function loadLibraries(): Promise<void> {
  const { ProcessStarter } = await import('@podwright/system');
  new ProcessStarter(); // binds functions of the C library
  const { openDatabase } = await import('@podwright/metadata');
  openDatabase(':memory:').close();
}
