/** Loads the libraries in machine code that a node needs. Throws the dynamic linker's error if this host is too old for one. */
export async function loadLibraries(): Promise<void> {
  const { ProcessStarter } = await import('@podwright/system');
  new ProcessStarter(); // binds functions of the C library
  const { openDatabase } = await import('@podwright/metadata');
  openDatabase(':memory:').close();
}
