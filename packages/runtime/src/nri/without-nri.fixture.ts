import { NriHooks, type NriHooksDependencies } from './nri-hooks.ts';

/** Hooks of a container runtime with NRI disabled, which need no dependencies. */
export const withoutNri = new NriHooks({ adaptation: undefined } as NriHooksDependencies);
