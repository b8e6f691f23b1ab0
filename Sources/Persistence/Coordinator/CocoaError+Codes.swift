public import Foundation

// The same codes as members of CocoaError. Source: Apple, CocoaError.
extension CocoaError.Code {
    /// An object breaks a rule of its model or of its own validation.
    public static var managedObjectValidation: CocoaError.Code { .init(rawValue: 1550) }
    /// Several objects or properties are invalid; `NSDetailedErrorsKey` has the errors.
    public static var validationMultipleErrors: CocoaError.Code { .init(rawValue: 1560) }
    /// A property that must have a value has none.
    public static var validationMissingMandatoryProperty: CocoaError.Code { .init(rawValue: 1570) }
    /// A to-many relationship has fewer members than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .init(rawValue: 1580)
    }
    /// A to-many relationship has more members than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .init(rawValue: 1590)
    }
    /// An object cannot be deleted: a relationship with the rule Deny still has members.
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .init(rawValue: 1600) }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { .init(rawValue: 1610) }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { .init(rawValue: 1620) }
    /// A date is after its latest.
    public static var validationDateTooLate: CocoaError.Code { .init(rawValue: 1630) }
    /// A date is before its earliest.
    public static var validationDateTooSoon: CocoaError.Code { .init(rawValue: 1640) }
    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { .init(rawValue: 1650) }
    /// A text is longer than its maximum, in UTF-16 units.
    public static var validationStringTooLong: CocoaError.Code { .init(rawValue: 1660) }
    /// A text is shorter than its minimum, in UTF-16 units.
    public static var validationStringTooShort: CocoaError.Code { .init(rawValue: 1670) }
    /// A text does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code { .init(rawValue: 1680) }
    /// A context could not be locked. Not thrown here: contexts have queues.
    public static var managedObjectContextLocking: CocoaError.Code { .init(rawValue: 132000) }
    /// A coordinator could not be locked. Not thrown here: coordinators lock themselves.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .init(rawValue: 132010) }
    /// A fault's row is not in its store any more.
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .init(rawValue: 133000) }
    /// A relationship leads to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code { .init(rawValue: 133010) }
    /// A save met newer values in the store; `NSPersistentStoreSaveConflictsErrorKey` has them.
    public static var managedObjectMerge: CocoaError.Code { .init(rawValue: 133020) }
    /// A save met other objects with the same unique values; `conflictList` has them.
    public static var managedObjectConstraintMerge: CocoaError.Code { .init(rawValue: 133021) }
    /// The store type is not registered, or does not fit the call.
    public static var persistentStoreInvalidType: CocoaError.Code { .init(rawValue: 134000) }
    /// The file is of another type than was asked for.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .init(rawValue: 134010) }
    /// The store's schema does not fit the model or the configuration.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .init(rawValue: 134020) }
    /// A store could not be saved.
    public static var persistentStoreSave: CocoaError.Code { .init(rawValue: 134030) }
    /// One of several stores could not be saved; the others were.
    public static var persistentStoreIncompleteSave: CocoaError.Code { .init(rawValue: 134040) }
    /// A save met conflicts that its merge policy does not settle.
    public static var persistentStoreSaveConflicts: CocoaError.Code { .init(rawValue: 134050) }
    /// An error of Core Data without a code of its own.
    public static var coreData: CocoaError.Code { .init(rawValue: 134060) }
    /// A store could not carry out what it was asked.
    public static var persistentStoreOperation: CocoaError.Code { .init(rawValue: 134070) }
    /// A store's file could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { .init(rawValue: 134080) }
    /// A store did not come free in time.
    public static var persistentStoreTimeout: CocoaError.Code { .init(rawValue: 134090) }
    /// The store cannot carry out requests of that kind.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        .init(rawValue: 134091)
    }
    /// The store was written with another version of the model; migrate it.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .init(rawValue: 134100)
    }
    /// A migration failed; the store is as it was before.
    public static var migration: CocoaError.Code { .init(rawValue: 134110) }
    /// A migration was cancelled; the store is as it was before.
    public static var migrationCancelled: CocoaError.Code { .init(rawValue: 134120) }
    /// The model with which the store was written was not found.
    public static var migrationMissingSourceModel: CocoaError.Code { .init(rawValue: 134130) }
    /// No mapping model leads from the store's model to the asked one.
    public static var migrationMissingMappingModel: CocoaError.Code { .init(rawValue: 134140) }
    /// The source of a migration could not be read.
    public static var migrationManagerSourceStore: CocoaError.Code { .init(rawValue: 134150) }
    /// The destination of a migration could not be written.
    public static var migrationManagerDestinationStore: CocoaError.Code { .init(rawValue: 134160) }
    /// A migration policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { .init(rawValue: 134170) }
    /// SQLite failed; `NSSQLiteErrorDomain` in `userInfo` has its code.
    public static var sqlite: CocoaError.Code { .init(rawValue: 134180) }
    /// No mapping can be inferred between the two models; the reason says why.
    public static var inferredMappingModel: CocoaError.Code { .init(rawValue: 134190) }
    /// Records from outside could not be imported.
    public static var externalRecordImport: CocoaError.Code { .init(rawValue: 134200) }
}

extension CocoaError {
    /// An object breaks a rule of its model or of its own validation.
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
    /// Several objects or properties are invalid; `NSDetailedErrorsKey` has the errors.
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
    /// A property that must have a value has none.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        .validationMissingMandatoryProperty
    }
    /// A to-many relationship has fewer members than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .validationRelationshipLacksMinimumCount
    }
    /// A to-many relationship has more members than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .validationRelationshipExceedsMaximumCount
    }
    /// An object cannot be deleted: a relationship with the rule Deny still has members.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        .validationRelationshipDeniedDelete
    }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
    /// A date is after its latest.
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
    /// A date is before its earliest.
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
    /// A text is longer than its maximum, in UTF-16 units.
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
    /// A text is shorter than its minimum, in UTF-16 units.
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
    /// A text does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code {
        .validationStringPatternMatching
    }
    /// A context could not be locked. Not thrown here: contexts have queues.
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
    /// A coordinator could not be locked. Not thrown here: coordinators lock themselves.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        .persistentStoreCoordinatorLocking
    }
    /// A fault's row is not in its store any more.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        .managedObjectReferentialIntegrity
    }
    /// A relationship leads to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        .managedObjectExternalRelationship
    }
    /// A save met newer values in the store; `NSPersistentStoreSaveConflictsErrorKey` has them.
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
    /// A save met other objects with the same unique values; `conflictList` has them.
    public static var managedObjectConstraintMerge: CocoaError.Code {
        .managedObjectConstraintMerge
    }
    /// The store type is not registered, or does not fit the call.
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
    /// The file is of another type than was asked for.
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
    /// The store's schema does not fit the model or the configuration.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        .persistentStoreIncompatibleSchema
    }
    /// A store could not be saved.
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
    /// One of several stores could not be saved; the others were.
    public static var persistentStoreIncompleteSave: CocoaError.Code {
        .persistentStoreIncompleteSave
    }
    /// A save met conflicts that its merge policy does not settle.
    public static var persistentStoreSaveConflicts: CocoaError.Code {
        .persistentStoreSaveConflicts
    }
    /// An error of Core Data without a code of its own.
    public static var coreData: CocoaError.Code { .coreData }
    /// A store could not carry out what it was asked.
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
    /// A store's file could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
    /// A store did not come free in time.
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
    /// The store cannot carry out requests of that kind.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        .persistentStoreUnsupportedRequestType
    }
    /// The store was written with another version of the model; migrate it.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        .persistentStoreIncompatibleVersionHash
    }
    /// A migration failed; the store is as it was before.
    public static var migration: CocoaError.Code { .migration }
    /// A migration was cancelled; the store is as it was before.
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
    /// The model with which the store was written was not found.
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
    /// No mapping model leads from the store's model to the asked one.
    public static var migrationMissingMappingModel: CocoaError.Code {
        .migrationMissingMappingModel
    }
    /// The source of a migration could not be read.
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
    /// The destination of a migration could not be written.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        .migrationManagerDestinationStore
    }
    /// A migration policy failed.
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
    /// SQLite failed; `NSSQLiteErrorDomain` in `userInfo` has its code.
    public static var sqlite: CocoaError.Code { .sqlite }
    /// No mapping can be inferred between the two models; the reason says why.
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
    /// Records from outside could not be imported.
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }

    /// The objects the error is about.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
    /// The stores the error is about.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
    /// The conflicts that stopped a save.
    public var persistentStoreSaveConflicts: [NSMergeConflict]? {
        userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    }
    /// The property that is invalid.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
    /// The object that is invalid.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
    /// The value that is invalid.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
    /// The rule of the model that the value breaks.
    public var validationPredicate: NSPredicate? {
        userInfo[NSValidationPredicateErrorKey] as? NSPredicate
    }
}
