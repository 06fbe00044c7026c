/** The kubelet's timers and bounds that are not options, with their sources; rooms that have many have their own `limits.ts`. */

// Sources of pods

/** How often a directory is tried that could not be read yet. */
export const SOURCE_RETRY_MS = 1000;
export const MANIFEST_URL_TIMEOUT_MS = 10_000;
/** A file that was written this recently may be written still, so it is looked at again. */
export const MANIFEST_QUIET_MS = 3;
/** A file that is wrong is given this long to become right before it is reported. */
export const MANIFEST_PATIENCE_MS = 300;
export const MANIFEST_START_PATIENCE_MS = 1000;
export const MAX_MANIFEST_FILES = 5000;

// Pods and containers

/** How often a pod that asks for more than there is looks again. */
export const RESIZE_RETRY_MS = 10_000;
/** Delays after steps that failed for a reason whose end no event announces. */
export const ERROR_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** A restart of a container that takes longer waits for something else than a processor, and holds up no others. */
export const RESTART_PATIENCE_MS = 500;
/** Sandboxes that are made at once on a busy host: asked for 110 at once, containerd takes a fifth longer for all. */
export const SANDBOXES_PER_PROCESSOR = 2;
export const LEAST_SANDBOXES_AT_ONCE = 4;
/** While sandboxes wait for their turn, how often it is looked whether the processors are idle for this part of their time. */
export const IDLE_LOOK_MS = 100;
export const IDLE_PROCESSORS_SHARE = 0.2;
/** On a host that others keep busy, a sandbox that takes longer holds up no others. */
export const SANDBOX_PATIENCE_MS = 2000;
/** A shorter wait for its turn explains nothing in a pod's trace. */
export const LEAST_TOLD_TURN_MS = 5;
/** A container has at least this long between SIGTERM and SIGKILL, unless it is killed at once on request. */
export const MINIMUM_GRACE_SECONDS = 2;
export const DEFAULT_GRACE_SECONDS = 30;
/** 68 years. A longer grace period acts as this one: dates and timers have no room for 2^63 seconds. */
export const MAX_GRACE_SECONDS = 2 ** 31 - 1;
/** Pods of an API server have at least this long. */
export const LEAST_GRACE_SECONDS = 1;
/** Upstream's immediate eviction: hooks before the stop may still begin. */
export const EVICTION_GRACE_SECONDS = 1;
/** An event tells of an end that takes longer than half as much again as the pod's time, and than this (killPodNow). */
export const LEAST_KILL_PATIENCE_MS = 10_000;
/** Stopping may take this much longer than the grace period before the runtime counts as hanging. */
export const STOP_MARGIN_MS = 120_000;
/** A file system that does not answer must not hold up its pod for ever. */
export const MOUNT_TIMEOUT_MS = 60_000;
/** Directories inside each other of a volume that is given to a pod's fsGroup: each holds a descriptor. */
export const MAX_VOLUME_DEPTH = 500;
/** Pauses between tries of what plugins of the node are asked for, as upstream doubles them (pkg/util/goroutinemap/exponentialbackoff). */
export const VOLUME_BACKOFF = { initialMs: 500, maxMs: 122_000 };
/** Pauses between reports of the volumes in use that a mount waits for. */
export const REPORT_BACKOFF = { initialMs: 100, maxMs: 10_000 };

// Plugins that register

/** Upstream's bounds of the calls by which plugins register: who they are, and how it went. */
export const PLUGIN_INFO_TIMEOUT_MS = 1000;
export const PLUGIN_NOTIFY_TIMEOUT_MS = 5000;
/** inotify tells what changes; this is for what it does not. */
export const PLUGIN_LOOK_PERIOD_MS = 10_000;
/** What is there already when the kubelet starts is waited for so long, as pods may need it. */
export const PLUGIN_FIRST_PATIENCE_MS = 2000;
/** Of more than these the rest is not seen. */
export const MAX_PLUGIN_DIRECTORIES = 1000;
export const MAX_PLUGIN_SOCKETS = 1000;
/** Names, versions and endpoints of plugins. */
export const MAX_PLUGIN_TEXT_LENGTH = 1024;
/** The longest answer of a plugin: Go's default. */
export const MAX_PLUGIN_ANSWER_BYTES = 4 << 20;
/** How often a claim and its volume are asked for again at the most, while their pod is looked at; and how long that may take. */
export const CLAIM_KEPT_MS = 1000;
export const CLAIM_PATIENCE_MS = 30_000;
/** How long a pod waits for a volume to be attached before it says so (upstream's podAttachAndMountTimeout). */
export const ATTACH_TIMEOUT_MS = 123_000;
/** Upstream's bound of a call to a CSI driver. */
export const CSI_TIMEOUT_MS = 120_000;
/** Upstream's bound of a call to a DRA driver. */
export const DRA_TIMEOUT_MS = 45_000;
/** Pauses between watches of how the devices of a DRA driver are: upstream's. */
export const DRA_WATCH_RETRY_MS = 5000;
/** A watch that has not failed for so long has reached its driver. */
export const DRA_WATCH_STANDS_MS = 1000;
/** How long is believed what a driver has said of a device, if it does not say itself: upstream's. */
export const DRA_HEALTH_KEPT_MS = 30_000;
/** Upstream's bound of what is said of a device. */
export const MAX_HEALTH_MESSAGE_LENGTH = 1024;
/** How long the ResourceSlices of a driver stay that has gone, as upstream's. */
export const DRA_SLICES_KEPT_MS = 30_000;
/** Pauses between tries to delete ResourceSlices: upstream's. */
export const SLICES_BACKOFF = { initialMs: 100, maxMs: 300_000 };
/** How long the end of pods that nobody knows any more waits for a driver before it goes on with the next. */
export const ORPHAN_PATIENCE_MS = 10_000;

/** Output of a command that is kept. */
export const MAX_COMMAND_OUTPUT_BYTES = 64 << 10;
/** A hook may take as long as the grace period allows; its caller's signal ends it. This only bounds the runtime's call. */
export const MAX_HOOK_MS = 24 * 3_600_000;
/** Arguments and variables that the kernel takes at most for one program: three quarters of 8 MiB (execve(2)). */
export const MAX_ENVIRONMENT_LENGTH = 6 << 20;
/** The longest argument or variable of a program, with its zero byte (MAX_ARG_STRLEN, execve(2)). */
export const MAX_EXPANDED_LENGTH = 128 << 10;
/** An environment file larger than this is not read. */
export const MAX_ENVIRONMENT_FILE_BYTES = 1 << 20;
/** Message files of earlier starts that are kept, for the container before this one and those of other sandboxes. */
export const KEPT_MESSAGE_FILES = 4;
/** Kubernetes' bounds: of the message file its last 4096 bytes, of the log 80 lines and 2048 bytes. */
export const MAX_MESSAGE_FILE_BYTES = 4096;
export const MAX_LOG_MESSAGE_BYTES = 2048;
export const MAX_LOG_MESSAGE_LINES = 80;
/** How long a runtime may take to give the end of a log that is in no file. */
export const LEGACY_LOG_TIMEOUT_MS = 10_000;
/** A line of a log may carry this much around its text, and come in pieces of it. */
export const MAX_LOG_MESSAGE_READ_BYTES = 256 << 10;

// The runtime's own state

/** How often the runtime is asked how it is: upstream's period, and what it is while something is wrong, so that pods start soon after. */
export const RUNTIME_STATUS_PERIOD_MS = 5000;
export const RUNTIME_STATUS_RETRY_MS = 1000;
/** A runtime that was not ready for this long is down (maxWaitForContainerRuntime). */
export const RUNTIME_DOWN_AFTER_MS = 30_000;
/** A kubelet that has not asked for the runtime's status for this long is unhealthy (upstream's minimum for its `syncloop` check). */
export const SYNC_LOOP_THRESHOLD_MS = 120_000;
/** A runtime that is down for this long when the kubelet starts is reported as down, and waited for. */
export const RUNTIME_START_PATIENCE_MS = 2000;
/** How long a pod waits that is held up by the runtime or its network (backOffOnTransientErrorPeriod). */
export const HELD_RETRY_MS = 1000;

// What the runtime has

/** No listing answered for longer than this means that the kubelet is not healthy (upstream's genericPlegRelistThreshold). */
export const PLEG_THRESHOLD_MS = 180_000;
/** How long the start of the kubelet waits for pods that are slow to be read. */
export const PLEG_START_PATIENCE_MS = 10_000;
/** How long after a container's end its reason may still come (`RuntimePodReader`). */
export const REASON_SETTLES_MS = 1000;

// Housekeeping

/** A log that was written to is looked at after as long as so many bytes a millisecond take to fill it. */
export const MOST_LOG_BYTES_A_MS = 200_000;
export const LEAST_LOG_LOOK_MS = 2;
export const MOST_LOG_LOOK_MS = 1000;
/** How long a log is taken to grow from a look to the runtime's opening a new file, before that has been measured. */
export const LOG_REOPEN_MS = 20;
/** Age at which a rotated log is compressed: at 3 MB/s and more, one of 10 MiB with four others is removed before that. */
export const LOG_COMPRESS_AFTER_MS = 10_000;
/** A log that grows fast is rotated by as much before its limit as it grows meanwhile, but by no more than this share of the limit. */
export const MOST_LOG_SHARE_AHEAD = 0.3;
/** Upstream's periods of garbage collection. */
export const CONTAINER_GC_PERIOD_MS = 60_000;
export const IMAGE_GC_PERIOD_MS = 300_000;
/** How often pods that no source has are looked for. */
export const ORPHAN_PERIOD_MS = 60_000;
/** Upstream's period of the cgroups of QoS classes. */
export const CGROUP_REFRESH_PERIOD_MS = 60_000;
/** How often the node is looked at for what it is short of, and the volumes of pods for their limits (evictionMonitoringPeriod). */
export const EVICTION_PERIOD_MS = 10_000;
/** How soon the disks are looked at again at the soonest while one of them fills. */
export const EVICTION_MIN_LOOK_MS = 100;
/** How long the end of an evicted pod is waited for before the next look, and how often it is looked for (podCleanupTimeout, podCleanupPollFreq). */
export const EVICTION_CLEAN_UP_MS = 30_000;
export const EVICTION_CLEAN_UP_LOOK_MS = 250;
/** Files are still being removed until so many looks on end found no more free. */
export const EVICTION_LOOKS_IN_VAIN = 4;
/** How long a round waits for volumes to be measured; what is found later is left to a later one. */
export const EVICTION_MEASURE_MS = 1000;
/** How long the use of pods at a shortage counts at the next one; for unsteady pods it is at least twice the transition period. */
export const EVICTION_RECENT_MS = 120_000;
/** At most so many measurements are kept. */
export const EVICTION_MEASUREMENTS = 30;
/** After so many shortages that ended, or that no pod explained, a pod is evicted for the last one all the same. */
export const EVICTION_SHORTAGES = 3;
/** The runtime's directories stay where they are, but for a runtime that was set up anew. */
export const IMAGE_PLACES_KEPT_MS = 300_000;
/** How long an eviction waits for walks through volumes that were begun; then what was known before counts. */
export const EVICTION_WALKS_MS = 10_000;
/** How long measuring one volume may take. */
export const MEASURE_TIMEOUT_MS = 60_000;

/** Changes of a pod's status within this time are written to disk once; a kubelet that is killed loses them. */
export const STATUS_RECORD_DELAY_MS = 100;
/** When statuses that could not be written are written again. */
export const STATUS_RECORD_AGAIN_MS = 1000;
/** A status has some 100 KiB at most: 12 KiB of messages, and conditions. */
export const MAX_STATUS_RECORD_BYTES = 4 << 20;

// What users see: statuses, events, traces, logs, the local API

/** All termination messages of a pod together (the kubelet's MaxPodTerminationMessageLogLength). */
export const MAX_POD_MESSAGE_BYTES = 12 << 10;
/** Messages of registries, hooks and runtimes in a status: as long as a termination message. */
export const MAX_WAITING_MESSAGE_LENGTH = 4096;
/** Events kept at most; the one that was not repeated for longest goes first. */
export const MAX_EVENTS = 2000;
/** A message longer than this is cut, as the Kubernetes API does. */
export const MAX_EVENT_MESSAGE_LENGTH = 1024;
/**
 * Events of one object, type and reason that differ in their message only: of so many within ten minutes, the next ones are
 * counted as one. A probe whose output is never the same would otherwise displace the events of other pods (client-go,
 * tools/record/events_cache.go).
 */
export const MAX_SIMILAR_EVENTS = 10;
export const SIMILAR_EVENTS_WINDOW_MS = 600_000;
/** Of one object may be told so many events at once, then one more each five minutes (the same file, as are the next three). */
export const EVENT_SPAM_BURST = 25;
export const EVENT_SPAM_REFILL_MS = 300_000;
/** Objects and events that are remembered to know repeats. */
export const MAX_CORRELATED_EVENTS = 4096;
/** Events that wait for the API server (tools/record/event.go, as are the next two). */
export const MAX_QUEUED_EVENTS = 1000;
export const MAX_EVENT_TRIES = 12;
export const EVENT_RETRY_MS = 10_000;
/** Pods and steps a pod that are remembered at most; the oldest go first. */
export const MAX_TRACED_PODS = 500;
export const MAX_SPANS_PER_POD = 500;
export const MAX_SPAN_DETAIL_LENGTH = 300;
/** Traces that the runtime is asked for at once; it takes no more than 1000. */
export const MAX_ASKED_TRACES = 500;
export const RUNTIME_SPANS_TIMEOUT_MS = 2000;
/** A log line is cut by its writer at 16 KiB; more than this without a newline is not a log. */
export const MAX_LOG_LINE_BYTES = 1 << 20;
/** Looks at the file at least so often, should a file event be lost. */
export const LOG_SAFETY_INTERVAL_MS = 1000;
/** And at most so often: a container may write thousands of times a second. */
export const MIN_LOG_INTERVAL_MS = 10;
/** Of a line that was written in pieces, so much of the file is looked through for its beginning. */
export const MAX_TAIL_LINE_BYTES = 16 << 20;
/** Errors in manifests that are shown at most. */
export const MAX_MANIFEST_ERRORS = 100;
/** How long an apply waits for the kubelet to have seen what it wrote. */
export const SEEN_TIMEOUT_MS = 5000;
/** Each command has one connection for a call, and one for each log and watch that it follows. */
export const MAX_CONNECTIONS = 1000;
/** Of the conditions that a client sets: so many at once, and as long as meta/v1's Condition allows. */
export const MAX_PATCHED_CONDITIONS = 50;
export const MAX_CONDITION_REASON_LENGTH = 1024;
export const MAX_CONDITION_MESSAGE_LENGTH = 32_768;
/** Selectors are typed by people, or are a line of a client's. */
export const MAX_SELECTOR_LENGTH = 4096;
/** CPU is measured over at least this time: the kernel counts in ticks of up to 10 ms. */
export const LEAST_USAGE_WINDOW_MS = 500;
/** A look at the statistics that is older than this is not what somebody asks for now. */
export const USAGE_SAMPLE_KEPT_MS = 30_000;
/** How long the runtime may take to tell what its pods use. */
export const STATISTICS_TIMEOUT_MS = 30_000;
/** Statistics are good for this long, as upstream's are: cAdvisor's housekeeping interval. */
export const STATISTICS_KEPT_MS = 10_000;
/** They are read ahead of whoever asks next, unless nobody has asked for this long: Prometheus asks once a minute by default. */
export const STATISTICS_WANTED_MS = 90_000;
/** A walk through a volume's files is good for this long: upstream's volumeStatsAggPeriod. */
export const VOLUME_USE_KEPT_MS = 60_000;
/** Descriptors of a pod that are looked at for deleted files at a time: some 0.1 s. */
export const MAX_DESCRIPTORS_A_POD = 20_000;

// What was given out of the node

/** Files of what was given out are read at a start up to this size. */
export const MAX_STATE_FILE_BYTES = 64 << 20;
/** Calls of the pod resources API: upstream's DefaultQPS and DefaultBurstTokens. */
export const POD_RESOURCES_CALLS = { perSecond: 100, burst: 10 };

/** How long a check of a manifest waits for a path of the host: an NFS server may not answer. */
export const HOST_LOOK_TIMEOUT_MS = 2000;
