/** The kubelet's timers and bounds that are not options, with their sources. */

/** setTimeout's limit: with more it does not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

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
/** A container has at least this long between SIGTERM and SIGKILL, unless it is killed at once on request. */
export const MINIMUM_GRACE_SECONDS = 2;
export const DEFAULT_GRACE_SECONDS = 30;
/** Pods of an API server have at least this long. */
export const LEAST_GRACE_SECONDS = 1;
/** Upstream's immediate eviction: hooks before the stop may still begin. */
export const EVICTION_GRACE_SECONDS = 1;
/** Stopping may take this much longer than the grace period before the runtime counts as hanging. */
export const STOP_MARGIN_MS = 120_000;
/** A file system that does not answer must not hold up its pod for ever. */
export const MOUNT_TIMEOUT_MS = 60_000;
/** Directories inside each other of a volume that is given to a pod's fsGroup: each holds a descriptor. */
export const MAX_VOLUME_DEPTH = 500;
/** Pauses between tries of what plugins of the node are asked for, as upstream doubles them (pkg/util/goroutinemap/exponentialbackoff). */
export const VOLUME_BACKOFF = { initialMs: 500, maxMs: 122_000 };

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

// The host's shutdown

/** Upstream's pause before a connection to logind that was lost is tried again. */
export const LOGIND_RETRY_MS = 1000;
/** D-Bus's own bound of a call. */
export const DBUS_TIMEOUT_MS = 25_000;
/** Nobody sends a kubelet more than this; the protocol would let them send 128 MiB. */
export const MAX_DBUS_MESSAGE_BYTES = 1 << 20;
/** Pauses before looking whether logind has taken a longer delay: upstream's, five looks in all. */
export const INHIBIT_DELAY_LOOKS_MS = [0, 100, 200, 400, 800];
/** A pod that takes longer than half as much again as its time, and than this, is told of by an event. */
export const LEAST_KILL_PATIENCE_MS = 10_000;
export const MAX_SHUTDOWN_RECORD_BYTES = 4096;

// What the runtime has

/** No listing answered for longer than this means that the kubelet is not healthy (upstream's genericPlegRelistThreshold). */
export const PLEG_THRESHOLD_MS = 180_000;
/** How long the start of the kubelet waits for pods that are slow to be read. */
export const PLEG_START_PATIENCE_MS = 10_000;

// Images

/** Registries sometimes answer with pages of HTML, which are too long for a status. */
export const MAX_PULL_ERROR_LENGTH = 800;
/** A config file larger than this is not read. */
export const MAX_DOCKER_CONFIG_BYTES = 1 << 20;
/** A pull that failed is tried again after a delay; this long after it the status says so. */
export const PULL_BACKOFF_SHOWN_AFTER_MS = 1000;
/** Secrets that are remembered of one image beyond those that it was pulled with (upstream's writeRecordWhileMatchingLimit). */
export const MAX_PULL_SECRETS_PER_IMAGE = 100;
/** A record of a pulled image has a few hundred bytes a Secret. */
export const MAX_PULL_RECORD_BYTES = 1 << 20;
export const MAX_CREDENTIAL_PROVIDER_CONFIG_BYTES = 1 << 20;
/** Upstream's time for a credential provider. */
export const CREDENTIAL_PLUGIN_TIMEOUT_MS = 60_000;
/** Tokens of registries have a few KiB; an answer has one or a few. */
export const MAX_CREDENTIAL_PLUGIN_BYTES = 1 << 20;
export const MAX_CREDENTIAL_ENTRIES = 1000;
export const MAX_CREDENTIAL_LENGTH = 64 << 10;
/** Answers of credential providers that are kept, the oldest go first. */
export const MAX_CACHED_CREDENTIALS = 1000;

// Probes

/** Until its first tick, an unready container is looked at this often, each time half as often. */
export const EAGER_PROBE_INITIAL_MS = 25;
/** A probe that could not be made is tried so often at once (upstream's maxProbeRetries). */
export const MAX_PROBE_TRIES = 3;
/** A container that began this long before the kubelet may count as one of its own (upstream's kubeletRestartGracePeriod). */
export const KUBELET_RESTART_GRACE_MS = 10_000;
/** Output that an event shows of a failed probe. */
export const MAX_PROBE_OUTPUT_BYTES = 1024;
/** As much of a body as upstream reads. */
export const MAX_PROBE_BODY_BYTES = 10 << 10;
/** Requests of one httpGet handler, as Go's client makes at most. */
export const MAX_PROBE_REQUESTS = 10;
/** Answers such as 103 before the one that counts. */
export const MAX_INFORMATIONAL_ANSWERS = 10;
/** Enough for the heads and bodies of all redirects; what a body has beyond that is not read. */
export const HTTP_ANSWER_LIMITS = { bytes: 256 << 10, events: 1000 };
/** A health answer has a few hundred bytes in some ten frames, of which each has nine bytes at least (RFC 9113, 4.1). */
export const GRPC_ANSWER_LIMITS = { bytes: 16 << 10, events: 100 };

// Housekeeping

/** Upstream's periods of garbage collection. */
/** A log that was written to is looked at after as long as so many bytes a millisecond take to fill it. */
export const MOST_LOG_BYTES_A_MS = 200_000;
export const LEAST_LOG_LOOK_MS = 2;
export const MOST_LOG_LOOK_MS = 1000;
/** How long a log is taken to grow from a look to the runtime's opening a new file, before that has been measured. */
export const LOG_REOPEN_MS = 20;
/** A log that grows fast is rotated by as much before its limit as it grows meanwhile, but by no more than this share of the limit. */
export const MOST_LOG_SHARE_AHEAD = 0.3;
export const CONTAINER_GC_PERIOD_MS = 60_000;
export const IMAGE_GC_PERIOD_MS = 300_000;
/** How often pods that no source has are looked for. */
export const ORPHAN_PERIOD_MS = 60_000;
/** Upstream's period of the cgroups of QoS classes. */
export const CGROUP_REFRESH_PERIOD_MS = 60_000;
/** How often the node is looked at for what it is short of, and the volumes of pods for their limits (evictionMonitoringPeriod). */
export const EVICTION_PERIOD_MS = 10_000;
/** How long the end of an evicted pod is waited for before the next look, and how often it is looked for (podCleanupTimeout, podCleanupPollFreq). */
export const EVICTION_CLEAN_UP_MS = 30_000;
export const EVICTION_CLEAN_UP_LOOK_MS = 250;
/** Files are still being removed until so many looks on end found no more free. */
export const EVICTION_LOOKS_IN_VAIN = 4;
/** How long a round waits for volumes to be measured; what is found later is left to a later one. */
export const EVICTION_MEASURE_MS = 1000;
/** An evicted pod that has not stopped after this long is told of, or after one and a half times its grace period (killPodNow). */
export const EVICTION_STOP_MS = 10_000;
/** The runtime's directories stay where they are, but for a runtime that was set up anew. */
export const IMAGE_PLACES_KEPT_MS = 300_000;
/** How long an eviction waits for walks through volumes that were begun; then what was known before counts. */
export const EVICTION_WALKS_MS = 10_000;
/** How long measuring one volume may take. */
export const MEASURE_TIMEOUT_MS = 60_000;

/** Changes of a pod's status within this time are written to disk once; a kubelet that is killed loses them. */
export const STATUS_RECORD_DELAY_MS = 100;
/** A status has some 100 KiB at most: 12 KiB of messages, and conditions. */
export const MAX_STATUS_RECORD_BYTES = 4 << 20;

// The node of a cluster

/** Pauses between tries to register (kubelet_node_status.go, registerWithAPIServer). */
export const NODE_REGISTRATION_BACKOFF = { initialMs: 100, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Tries to tell the status, and to renew the lease, before the next period is waited for (nodeStatusUpdateRetry, maxUpdateRetries). */
export const NODE_STATUS_TRIES = 5;
export const LEASE_TRIES = 5;
/** Pauses between tries to make the lease. */
export const LEASE_BACKOFF = { initialMs: 200, maxMs: 7000, resetMs: Number.POSITIVE_INFINITY };
/** Periods of heartbeats are longer by up to this share, so that those of many nodes do not meet. */
export const HEARTBEAT_JITTER = 0.04;
/** What makes a node ready, or not any more, is told at once, but no sooner than this after the last time: upstream's fast path at the start. */
export const NODE_PROMPT_PERIOD_MS = 100;
/** The images of a node are listed this often (image_gc_manager.go). */
export const NODE_IMAGES_PERIOD_MS = 30_000;
/** Pauses between tries to make the CSINode: a few short ones, and between such rounds long ones, of which the last is repeated. */
export const CSI_NODE_QUICK_RETRIES_MS = [10, 50, 250];
export const CSI_NODE_RETRIES_MS = [30, 240, 1920, 15_360, 122_880];
/** How often it is asked whether the API server answers at all. */
export const API_WAIT_MS = 1000;

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

// The kubelet's HTTP API

/** Heads of requests hold the commands of `exec` in their URL: enough for three long arguments, percent-encoded. */
export const MAX_REQUEST_HEAD_BYTES = 256 << 10;
/** A client has this long to send the head of a request, and the whole of one; none of ours needs a body. */
export const REQUEST_HEAD_TIMEOUT_MS = 10_000;
/** Between two requests on one connection: as upstream. */
export const KEEP_ALIVE_TIMEOUT_MS = 90_000;
/** Idle time after which the kernel probes a client's connection: as upstream (Go's net.ListenConfig). */
export const KEEP_ALIVE_PROBE_MS = 15_000;
/** A client that does not read its response is disconnected after this long. */
export const STALLED_CLIENT_MS = 60_000;
/** Request bodies that are not used are read and discarded up to this size. */
export const MAX_IGNORED_BODY_BYTES = 64 << 10;
/** How long a command of `/run` may take: upstream's bound of a response. */
export const MAX_RUN_MS = 4 * 3_600_000;
/** Bearer tokens of a file, and its size. */
export const MAX_TOKENS = 10_000;
export const MAX_TOKEN_FILE_BYTES = 4 << 20;
/** Answers of reviews that are kept: of tokens, and of access (upstream's 8192). */
export const MAX_REVIEWED_TOKENS = 4096;
export const MAX_ACCESS_REVIEWS = 8192;
/** Reviews of one kind under way: those beyond are refused, or callers that nobody knows would hold up the API server. */
export const MAX_REVIEWS_AT_ONCE = 100;
/** A service account's token has some 1.2 KiB; what the API server says of its user has less. */
export const MAX_REVIEWED_TOKEN_LENGTH = 64 << 10;
export const MAX_USER_LENGTH = 64 << 10;
/** How long a review may take with its repetitions, and these (upstream's DefaultAuthWebhookRetryBackoff). */
export const REVIEW_TIMEOUT_MS = 10_000;
export const REVIEW_RETRIES = { most: 5, initialMs: 500, factor: 1.5 };
/** A certificate of our own is valid this long, as upstream's, and is replaced when less than a tenth of it is left. */
export const OWN_CERTIFICATE_MS = 365 * 24 * 3_600_000;
/** How often the files of certificates and authorities are looked at, and how often they are read though they seem unchanged. */
export const TLS_FILES_PERIOD_MS = 1000;
export const TLS_REREAD_MS = 60_000;
/** How long a profile is taken if its client does not say, as by Go's, and at most: its samples are kept in memory. */
export const DEFAULT_PROFILE_SECONDS = 30;
export const MAX_PROFILE_SECONDS = 120;
/** Entries of a directory below `/logs/` that are shown. */
export const MAX_LOG_DIRECTORY_ENTRIES = 10_000;

// Certificates of a cluster

/** A certificate with its chain has a few KiB. */
export const MAX_CERTIFICATE_BYTES = 256 << 10;
/** How long a request for a certificate is waited for before another is made (client-go's certificateWaitTimeout). */
export const CERTIFICATE_TIMEOUT_MS = 900_000;
/** A watch for its answer is begun anew after this long. */
export const CERTIFICATE_WATCH_SECONDS = 300;
/** How long until what has become of a request is looked at again after that failed. */
export const SIGNING_RETRY_MS = 1000;
/** Delays between requests that failed (client-go's certificate manager: five tries from 2 s on, then every 32 s). */
export const RENEWAL_BACKOFF = { initialMs: 2000, maxMs: 32_000 };
/** How often it is looked at whether a certificate is due, or another is wanted, as upstream: the wall clock may be set meanwhile. */
export const RENEWAL_WAIT_MS = 1000;

// Device plugins

/** How long the devices of a plugin that has gone are counted, as upstream (endpointStopGracePeriod). */
export const DEVICE_PLUGIN_GRACE_MS = 5 * 60_000;
/** How long a plugin that registers may take to answer, as upstream's dial. */
export const DEVICE_PLUGIN_CONNECT_TIMEOUT_MS = 10_000;
/** How long a plugin may take to give out devices: upstream waits without end, and so do all pods after it. */
export const DEVICE_ALLOCATE_TIMEOUT_MS = 60_000;
/** Before the start of a container: upstream's KubeletPreStartContainerRPCTimeoutInSecs. */
export const DEVICE_PRE_START_TIMEOUT_MS = 30_000;
/** A list of devices: what a client of Go's gRPC takes. */
export const MAX_DEVICE_LIST_BYTES = 4 << 20;
/** What such a list has room for with ids of a sensible length. */
export const MAX_DEVICES = 65_536;
export const MAX_DEVICE_ID_LENGTH = 4096;
/** NUMA nodes that a host can have, as upstream's masks. */
export const MAX_DEVICE_NODES = 64;
/** Resources that plugins register: a kubelet keeps a connection for each. */
export const MAX_DEVICE_RESOURCES = 256;
/** Files of what was given out are read at a start up to this size. */
export const MAX_STATE_FILE_BYTES = 64 << 20;
/** Calls of the pod resources API: upstream's DefaultQPS and DefaultBurstTokens. */
export const POD_RESOURCES_CALLS = { perSecond: 100, burst: 10 };

// What pods need of an API server

/** How long the first use of an object waits until it has been read (upstream's watch_based_manager). */
export const OBJECT_PATIENCE_MS = 1000;
/** Watches of single ConfigMaps and Secrets are begun anew after a random time between these (upstream's). */
export const OBJECT_WATCH_SECONDS = { least: 1800, most: 3600 };
/** How long an object is used that is not watched, unless the Node's annotation says (upstream's defaultTTL). */
export const OBJECT_TTL_MS = 60_000;
/** A token is replaced after this share of its life, and after a day, some seconds earlier (upstream's token manager). */
export const TOKEN_USED_SHARE = 0.8;
export const TOKEN_MAX_AGE_MS = 24 * 3_600_000;
export const TOKEN_JITTER_MS = 10_000;
/** A token is not replaced sooner, but for one that lives for less than twice this. */
export const TOKEN_LEAST_AGE_MS = 30_000;
/** Pauses between reports of the volumes in use that a mount waits for. */
export const REPORT_BACKOFF = { initialMs: 100, maxMs: 10_000 };
/** A token has one to two KiB. */
export const MAX_TOKEN_LENGTH = 64 << 10;
/** Delays after tokens that could not be replaced (upstream's of volumes). */
export const TOKEN_RETRY = { initialMs: 500, maxMs: 122_000 };

// Pods of an API server

/** So many statuses are sent at a time; one a pod. */
export const STATUSES_AT_ONCE = 8;
/** A status of a pod that is Pending waits so long for the next one: most pods run by then, and one patch tells it. */
export const PENDING_STATUS_HOLD_MS = 100;
/** How often what the API server shows of pods is compared with their statuses, as upstream. */
export const STATUS_RECONCILE_MS = 10_000;
/** Delays between tries while the API server does not answer. */
export const STATUS_OUTAGE_BACKOFF = { initialMs: 500, maxMs: 10_000 };
/** The same for mirror pods. */
export const MIRROR_BACKOFF = { initialMs: 1000, maxMs: 60_000 };
