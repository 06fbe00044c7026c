export * from './api/quantity.ts';
export * from './api/types.ts';
