package eureka

// reservedKey reports whether a metadata key has no place on the wire: the
// type marker, which Java clients read as a class name and never as user data,
// and the empty key, which no XML element can carry.
func reservedKey(key string) bool {
	return key == "@class" || key == ""
}

// wire returns the action type if it belongs to the closed set, else
// ActionAdded: clients ignore a delta entry without an action.
func (a ActionType) wire() ActionType {
	switch a {
	case ActionModified, ActionDeleted:
		return a
	default:
		return ActionAdded
	}
}

// wireCountryID returns the country to write; unset means 1 everywhere.
func (in *Instance) wireCountryID() int {
	if in.CountryID == 0 {
		return 1
	}
	return in.CountryID
}

// wireSecs returns the lease figures to write. A zero would tell readers that
// the lease is over at once.
func (l *Lease) wireSecs() (renewal, duration int64) {
	renewal, duration = DefaultRenewalIntervalSecs, DefaultDurationSecs
	if l.RenewalIntervalSecs > 0 {
		renewal = int64(l.RenewalIntervalSecs)
	}
	if l.DurationSecs > 0 {
		duration = int64(l.DurationSecs)
	}
	return renewal, duration
}

// wire returns the name and the class to write, which must agree: Java clients
// cast by the one what they built by the other.
func (d *DataCenter) wire() (name, class string) {
	switch d.Name {
	case DataCenterAmazon:
		return DataCenterAmazon, classAmazonInfo
	case DataCenterNetflix:
		return DataCenterNetflix, classDefaultDataCenter
	default:
		return DataCenterMyOwn, classDefaultDataCenter
	}
}
