/** Folders in the state directory that have to do with shims: their bundles and events, our tasks in them, runc's own state. */
export const SHIM_FOLDERS = { shims: 'shims', tasks: 'shim-tasks', runc: 'shim-runc' };
