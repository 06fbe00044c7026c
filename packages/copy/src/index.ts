export { inPieces, packTree } from './pack.ts';
export { unpackInto } from './unpack.ts';
