/** Descriptions of jobs, autoscaling, disruption budgets and priorities. */
export const JOBS = `
batch.Job: Runs pods until a number of them has succeeded.
batch.JobSpec: The pods of a Job and when it is complete.
  parallelism: How many pods run at the same time. Default 1.
  completions: How many pods must succeed. Default 1.
  completionMode: NonIndexed, or Indexed (each pod has a number, and each number must succeed).
  backoffLimit: How many failed pods are accepted before the Job fails. Default 6.
  backoffLimitPerIndex: The same for each number of an Indexed Job.
  maxFailedIndexes: How many numbers may fail before the Job fails.
  activeDeadlineSeconds: The time in seconds after which the Job is stopped and has failed.
  ttlSecondsAfterFinished: The time in seconds after which the finished Job is deleted.
  suspend: Whether the Job runs no pods for now.
  selector: Selects the pods. The server sets it.
  manualSelector: Whether selector was set by the client.
  podFailurePolicy: What to do about certain failures.
  successPolicy: When the Job has succeeded before all completions.
  podReplacementPolicy: When a pod is replaced: TerminatingOrFailed or Failed.
  managedBy: The controller that runs the Job.
batch.JobStatus: The observed state of a Job.
  startTime: When the Job was started.
  completionTime: When the Job succeeded.
  active: The number of pods that wait or run.
  ready: The number of ready pods.
  succeeded: The number of pods that succeeded.
  failed: The number of pods that failed.
  terminating: The number of pods that are being deleted.
  completedIndexes: The numbers that succeeded, such as 0,2-4.
  failedIndexes: The numbers that failed.
batch.JobTemplateSpec: A description of the Jobs that a CronJob creates.
batch.CronJob: Creates a Job at certain times.
batch.CronJobSpec: The Jobs of a CronJob and their times.
  schedule: The times in cron form: minute, hour, day of the month, month, day of the week.
  timeZone: The time zone of the schedule, such as Europe/Berlin. Default: that of the server.
  concurrencyPolicy: What to do if the last Job still runs: Allow, Forbid (skip) or Replace.
  startingDeadlineSeconds: How many seconds late a Job may start; later it is skipped.
  suspend: Whether no Jobs are created for now.
  jobTemplate: The Jobs to create.
  successfulJobsHistoryLimit: How many successful Jobs remain. Default 3.
  failedJobsHistoryLimit: How many failed Jobs remain. Default 1.
batch.CronJobStatus: The observed state of a CronJob.
  active: The Jobs that run.
  lastScheduleTime: When a Job was last due.
  lastSuccessfulTime: When a Job last succeeded.
autoscaling.HorizontalPodAutoscaler: Changes the number of pods of a workload by metrics such as CPU use.
autoscaling.HorizontalPodAutoscalerSpec: The workload and the rules by which it is scaled.
  scaleTargetRef: The workload, such as a Deployment.
  minReplicas: The least number of pods. Default 1.
  maxReplicas: The greatest number of pods.
  metrics: The metrics with their targets. The one that needs the most pods counts.
  behavior: How fast the number changes.
  targetCPUUtilizationPercentage: The average CPU use to aim at, in percent of the requests.
autoscaling.HorizontalPodAutoscalerStatus: The observed state of an autoscaler.
  currentReplicas: The number of pods at the last check.
  desiredReplicas: The number of pods that the metrics call for.
  currentMetrics: The values of the metrics at the last check.
  lastScaleTime: When the number was last changed.
autoscaling.MetricSpec: A metric and its target.
  type: Resource, ContainerResource, Pods, Object or External.
  resource: CPU or memory of the pods.
  containerResource: CPU or memory of one container of the pods.
  pods: A metric of the pods themselves.
  object: A metric of another object, such as an Ingress.
  external: A metric from outside the cluster.
autoscaling.MetricTarget: The value to aim at.
  type: Utilization, Value or AverageValue.
  averageUtilization: The average use, in percent of the requests.
  averageValue: The average value of the pods.
  value: The value.
autoscaling.CrossVersionObjectReference: An object of any kind.
autoscaling.HorizontalPodAutoscalerBehavior: How fast the number of pods changes.
  scaleUp: Rules for more pods.
  scaleDown: Rules for fewer pods.
autoscaling.HPAScalingRules: How fast the number of pods changes in one direction.
  stabilizationWindowSeconds: The seconds that are looked back before a change, so that the number does not jump.
  policies: The greatest changes in a time.
  selectPolicy: Which policy counts: Max, Min or Disabled.
autoscaling.Scale: The number of pods of a workload.
autoscaling.ScaleSpec: The requested number of pods.
  replicas: The number of pods.
autoscaling.ScaleStatus: The observed number of pods.
  selector: Selects the pods, as text.
policy.PodDisruptionBudget: How many pods of a group may be evicted at the same time.
policy.PodDisruptionBudgetSpec: The pods and how many of them must stay.
  minAvailable: How many pods must stay: a number or a percentage.
  maxUnavailable: How many pods may be missing: a number or a percentage.
  unhealthyPodEvictionPolicy: When pods that are not ready may be evicted: IfHealthyBudget or AlwaysAllow.
scheduling.PriorityClass: A priority that pods can have by name.
  value: The priority. Higher is more important.
  globalDefault: Whether pods without a class get this one.
  description: What the class is for.
  preemptionPolicy: Whether pods may evict pods of lower priority: PreemptLowerPriority or Never.
scheduling.PodGroup: Pods that are scheduled together.
scheduling.Workload: Templates of PodGroups for an application.
`;
