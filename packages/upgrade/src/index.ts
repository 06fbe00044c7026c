export { findInstallation, type Installation, RESTART_ADVICE } from './installation.ts';
export { ProgramSwap } from './program-swap.ts';
export { findArchive, type ReleaseArchive, unpackProgram, verifyArchive } from './release-archive.ts';
