// Error codes of NSCocoaErrorDomain that Core Data uses. Source: Apple, CoreDataErrors.

/// An object breaks a rule of its model or of its own validation.
public let NSManagedObjectValidationError = 1550
/// An object breaks a uniqueness constraint of its entity.
public let NSManagedObjectConstraintValidationError = 1551
/// Several objects or properties are invalid; `NSDetailedErrorsKey` has the errors.
public let NSValidationMultipleErrorsError = 1560
/// A property that must have a value has none.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A to-many relationship has fewer members than its minimum.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A to-many relationship has more members than its maximum.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// An object cannot be deleted: a relationship with the rule Deny still has members.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above its maximum.
public let NSValidationNumberTooLargeError = 1610
/// A number is below its minimum.
public let NSValidationNumberTooSmallError = 1620
/// A date is after its latest.
public let NSValidationDateTooLateError = 1630
/// A date is before its earliest.
public let NSValidationDateTooSoonError = 1640
/// A date is none.
public let NSValidationInvalidDateError = 1650
/// A text is longer than its maximum, in UTF-16 units.
public let NSValidationStringTooLongError = 1660
/// A text is shorter than its minimum, in UTF-16 units.
public let NSValidationStringTooShortError = 1670
/// A text does not match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI is none.
public let NSValidationInvalidURIError = 1690
/// A context could not be locked. Not thrown here: contexts have queues.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator could not be locked. Not thrown here: coordinators lock themselves.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A fault's row is not in its store any more.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship leads to an object of another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// A save met newer values in the store; `NSPersistentStoreSaveConflictsErrorKey` has them.
public let NSManagedObjectMergeError = 133020
/// A save met other objects with the same unique values; `conflictList` has them.
public let NSManagedObjectConstraintMergeError = 133021
/// The store type is not registered, or does not fit the call.
public let NSPersistentStoreInvalidTypeError = 134000
/// The file is of another type than was asked for.
public let NSPersistentStoreTypeMismatchError = 134010
/// The store's schema does not fit the model or the configuration.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A store could not be saved.
public let NSPersistentStoreSaveError = 134030
/// One of several stores could not be saved; the others were.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save met conflicts that its merge policy does not settle.
public let NSPersistentStoreSaveConflictsError = 134050
/// An error of Core Data without a code of its own.
public let NSCoreDataError = 134060
/// A store could not carry out what it was asked.
public let NSPersistentStoreOperationError = 134070
/// A store's file could not be opened.
public let NSPersistentStoreOpenError = 134080
/// A store did not come free in time.
public let NSPersistentStoreTimeoutError = 134090
/// The store cannot carry out requests of that kind.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The store was written with another version of the model; migrate it.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed; the store is as it was before.
public let NSMigrationError = 134110
/// A migration would break a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration was cancelled; the store is as it was before.
public let NSMigrationCancelledError = 134120
/// The model with which the store was written was not found.
public let NSMigrationMissingSourceModelError = 134130
/// No mapping model leads from the store's model to the asked one.
public let NSMigrationMissingMappingModelError = 134140
/// The source of a migration could not be read.
public let NSMigrationManagerSourceStoreError = 134150
/// The destination of a migration could not be written.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// SQLite failed; `NSSQLiteErrorDomain` in `userInfo` has its code.
public let NSSQLiteError = 134180
/// No mapping can be inferred between the two models; the reason says why.
public let NSInferredMappingModelError = 134190
/// Records from outside could not be imported.
public let NSExternalRecordImportError = 134200
/// The history that a token leads to is deleted.
public let NSPersistentHistoryTokenExpiredError = 134301
/// A referenced model was not found.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// A staged migration was begun by another version of the framework.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// The stages of a migration would lead backwards.
public let NSStagedMigrationBackwardMigrationError = 134506
