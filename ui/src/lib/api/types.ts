// Short names for the types of the admin API. `npm run types` generates the types in
// schema.d.ts from the OpenAPI document.

import type * as schema from "./schema";

/** In a response every member is present, at least as `null`; in a request some are optional. */
export type Answer<T> = T extends (infer Item)[] ? Answer<Item>[] : T extends object ? { [Name in keyof T]-?: Answer<T[Name]> } : T;

export type PropertyClass = "attributes" | "data" | "variables";

export type Tag = Answer<schema.Tag>;
export type Group = Answer<schema.Group>;
export type Effective = Answer<schema.Effective>;
export type LabelPreview = Answer<schema.LabelPreview>;
export type Location = Answer<schema.Location>;
export type Inlay = Answer<schema.Inlay>;
export type Encoding = Answer<schema.Encoding>;
export type EncodingAddress = Answer<schema.EncodingAddress>;
export type EncodingPreview = Answer<schema.EncodingPreview>;
export type EncodingRoot = Answer<schema.EncodingRoot>;
export type ExposedInlay = Answer<schema.ExposedInlay>;
export type BackupSchedule = Answer<schema.BackupSchedule>;
export type EncodingRun = Answer<schema.EncodingRun>;
export type EncodingRunRow = Answer<schema.EncodingRunRow>;
export type WholeEncodingRun = Answer<schema.WholeEncodingRun>;
export type FactoryOrder = Answer<schema.FactoryOrder>;
export type FactoryOrderPosition = Answer<schema.FactoryOrderPosition>;
export type FactoryOrderReport = Answer<schema.FactoryOrderReport>;
export type WholeFactoryOrder = Answer<schema.WholeFactoryOrder>;
export type ImportPreset = Answer<schema.ImportPreset>;
export type ImportTable = Answer<schema.ImportTable>;
export type MasterKey = Answer<schema.MasterKey>;
export type Experience = Answer<schema.Experience>;
export type TechnologyView = Answer<schema.TechnologyView>;
export type UnlistedChip = Answer<schema.UnlistedChip>;
export type UrlTemplate = Answer<schema.UrlTemplate>;
export type EncodingSheet = Answer<schema.EncodingSheet>;
export type Solved = Answer<schema.Solved>;
export type SolveChip = Answer<schema.SolveChip>;
export type SolveCandidate = Answer<schema.SolveCandidate>;
export type Derivation = Answer<schema.Derivation>;
export type DerivationScheme = Answer<schema.DerivationScheme>;
export type Version = Answer<schema.Version>;
export type Previewed = Answer<schema.Previewed>;
export type Interaction = Answer<schema.Interaction>;
export type TracedInteraction = Answer<schema.TracedInteraction>;
export type LiveEvent = Answer<schema.Event>;
export type Stats = Answer<schema.Stats>;
export type Report = Answer<schema.Report>;
export type VirtualInlay = Answer<schema.VirtualInlay>;
export type VirtualTapped = Answer<schema.VirtualTapped>;
export type Settings = Answer<schema.SettingsView>;
export type AppLinks = Answer<schema.AppLinks>;
export type Pages = Answer<schema.Pages>;
export type PageText = Answer<schema.PageText>;
export type PlainPage = schema.PlainPage;
export type TagBulkResult = Answer<schema.TagBulkResult>;
export type TagUrlCheck = Answer<schema.TagUrlCheck>;
export type TagUrl = Answer<schema.TagUrl>;
export type Verification = Answer<schema.Verification>;
export type MissingVariables = Answer<schema.MissingVariables>;
export type AddedVariables = Answer<schema.AddedVariables>;
export type Submission = Answer<schema.Submission>;
export type VisitorData = Answer<schema.VisitorData>;
export type KeptData = Answer<schema.KeptData>;
export type Sheet = Answer<schema.Sheet>;
export type SheetRow = Answer<schema.SheetRow>;
export type Webhook = Answer<schema.Webhook>;
export type WebhookAttempt = Answer<schema.WebhookAttempt>;
export type MailServer = Answer<schema.MailServer>;
export type MailTest = Answer<schema.MailTest>;
export type Notification = Answer<schema.Notification>;
export type NotificationFailure = Answer<schema.NotificationFailure>;
export type NotificationTest = Answer<schema.NotificationTest>;
export type WholeSheet = Answer<schema.WholeSheet>;
export type StoredToken = Answer<schema.StoredToken>;
export type CurrentToken = Answer<schema.CurrentToken>;
export type AuditRow = Answer<schema.AuditRow>;

// These have optional members in responses, too.
export type {
  Block,
  EncodingQuestion,
  EncodingReason,
  EncodingState,
  UnlistedMode,
  Difference,
  DifferenceLine,
  ExperienceTemplate,
  Templates,
  FieldKind,
  Include,
  FormField,
  Image,
  OperatingSystem,
  Tech,
  Rule,
  Scheme,
  Theme,
  When,
  BucketTaps,
  CounterMove,
  CreatedToken,
  Demo,
  DemoRemoved,
  EventKind,
  InlayPatch,
  KeyState,
  MacFrom,
  MacStart,
  MailSecurity,
  MailStep,
  TemplateLookup,
  Mode,
  Mirror,
  NewEncodingRun,
  NewInlay,
  NewUrlTemplate,
  NewSheet,
  NotificationKind,
  Overrides,
  Reason,
  RowFields,
  SimulatedClock,
  Step,
  Scope,
  Technology,
  TagBulkChange,
  TagBulkRequest,
  TagFilter,
  LabelRequest,
  LabelSelection,
  LabelSheet,
  TagSelection,
  TagImportResult,
  TagImportRow,
  TagPatch,
  Tamper,
  VerificationState,
} from "./schema";
