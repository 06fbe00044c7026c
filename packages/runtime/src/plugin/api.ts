/** The API for third-party plugins, `@podwright/runtime/plugin`: only types, plus the version. */
export type { ErrorCode, Logger } from '@podwright/base';
export type {
  SnapshotInfo,
  SnapshotKind,
  Snapshotter,
  SnapshotUsage,
  UnpackTarget,
} from '@podwright/images';
export type { Mount } from '@podwright/system';
export type { SandboxConfig, SandboxRecord } from '../records/sandbox-record.ts';
export type { SandboxController, SandboxEnvironment } from '../sandbox/sandbox-controller.ts';
export type {
  ExecConfig,
  ExecSession,
  TaskConfig,
  TaskExit,
  TaskRuntime,
  TaskState,
} from '../tasks/task-runtime.ts';
export {
  PLUGIN_API_VERSION,
  type SettingsIssue,
  type SettingsResult,
  type SettingsSchema,
  type ThirdPartyContext,
  type ThirdPartyPlugin,
  type ThirdPartyType,
} from './third-party.ts';
