import { NriHooks, type NriHooksDependencies } from './nri-hooks.ts';

/** Hooks of a container runtime without NRI, which need nothing of it. */
export const withoutNri = new NriHooks({ adaptation: undefined } as NriHooksDependencies);
