export { type RunningScheduler, type SchedulerOptions, startScheduler } from './start-scheduler.ts';
